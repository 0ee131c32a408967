// This file is how numbers are written and read; it says the same as views/numbers.py.

const NAMED = new Map([["nan", NaN], ["inf", Infinity], ["-inf", -Infinity]]);
const asFloat = (value) => (NAMED.has(value) ? NAMED.get(value) : value);
const isFiniteNumber = (value) => typeof value === "number" && Number.isFinite(value);
const trimmed = (digits) => (digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits);
const grouped = (digits) => digits.replace(/^(-?\d+)/, (whole) => (whole.replace("-", "").length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole));

function asNumber(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return grouped(String(value));
  const [mantissa, power] = value.toExponential(3).split("e");
  if (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) return `${trimmed(mantissa)}e${Number(power)}`;
  return grouped(trimmed(value.toFixed(Math.max(0, 3 - Number(power)))));
}

// What a cell says as a number: null where it is no number, undefined where it is empty.
function readNumber(text) {
  const plain = text.replaceAll(",", "").trim();
  if (!plain) return undefined;
  if (NAMED.has(plain)) return NAMED.get(plain);
  const [, number, unit] = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\D*)$/i.exec(plain) ?? [];
  return number === undefined || !(unit in UNITS) ? null : Number(number) * UNITS[unit];
}

const UNITS = { "": 1, "%": 1, ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, k: 1e3, M: 1e6, G: 1e9 };
