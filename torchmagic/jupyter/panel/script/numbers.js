// This file is how numbers are written; it says the same as views/numbers.py.

const NOT_FINITE = new Map([["nan", NaN], ["inf", Infinity], ["-inf", -Infinity]]);

// JSON knows no NaN: the wire carries it as a string.
const asFloat = (value) => (typeof value === "number" ? value : NOT_FINITE.has(value) ? NOT_FINITE.get(value) : null);
const isNumeric = (value) => value === null || asFloat(value) !== null;
const isFiniteNumber = (value) => typeof value === "number" && Number.isFinite(value);

const shortened = (digits) => (digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits);
const grouped = (digits) => digits.replace(/^(-?\d+)/, (whole) => (whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole));

function asNumber(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return grouped(String(value));
  const [mantissa, power] = value.toExponential(3).split("e");
  if (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) return `${shortened(mantissa)}e${Number(power)}`;
  return grouped(shortened(value.toFixed(Math.max(0, 3 - Number(power)))));
}

function scaled(value, base, units) {
  let power = 0;
  while (Math.abs(value) >= base && power < units.length - 1) [value, power] = [value / base, power + 1];
  return `${asNumber(value)} ${units[power]}`.trimEnd();
}

const asCount = (value) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"]);
const asBytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);

function asSeconds(value) {
  if (!isFiniteNumber(value)) return asNumber(value);
  if (value >= 3600) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  if (value >= 60) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([least]) => value >= least) ?? [1, "s"];
  return `${asNumber(value / size)} ${unit}`;
}

function asShare(value) {
  if (!isFiniteNumber(value)) return asNumber(value);
  if (value > 0 && value < 0.001) return "<0.1%";
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)}%`;
}

function asAmount(value, unit) {
  if (unit === "s") return asSeconds(value);
  return unit === "B" ? asBytes(value) : `${asNumber(value)} ${unit}`.trimEnd();
}
