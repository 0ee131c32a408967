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

// A value with the digits that are written of it: none is written in a unit where it would read as one of the next.
const asWritten = (value) => (Number.isInteger(value) ? value : Number(value.toExponential(3)));

function scaled(value, base, units) {
  let power = 0;
  while (Math.abs(asWritten(value)) >= base && power < units.length - 1) [value, power] = [value / base, power + 1];
  return `${asNumber(value)} ${units[power]}`.trimEnd();
}

const asCount = (value) => scaled(value, 1000, ["", "k", "M", "G", "T", "P"]);
const asBytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);

function asSeconds(value) {
  if (!isFiniteNumber(value)) return asNumber(value);
  if (value < 0) return `-${asSeconds(-value)}`;
  const written = asWritten(value);
  if (written >= 60) {
    const whole = Math.floor(Math.max(value, 60));
    const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
    return hours ? `${asNumber(hours)} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
  }
  if (value === 0) return "0 s";
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([least]) => written >= least) ?? [1e-9, "ns"];
  return `${asNumber(value / size)} ${unit}`;
}

const ALL = 1 - 1e-12; // what sums of parts make of one

function asShare(value) {
  if (!isFiniteNumber(value)) return asNumber(value);
  if (value > 0 && value < 0.001) return "<0.1%";
  if (value > 1 - 0.001 && value < ALL) return ">99.9%";
  const isFine = (value > 0 && value < 0.0995) || (value >= 0.995 && value < ALL);
  return `${(100 * value).toFixed(isFine ? 1 : 0)}%`.replace(/^-0%$/, "0%");
}

function asAmount(value, unit) {
  if (unit === "s") return asSeconds(value);
  return unit === "B" ? asBytes(value) : `${asNumber(value)} ${unit}`.trimEnd();
}
