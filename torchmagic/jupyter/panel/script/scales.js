// This file is the arithmetic of axes: scales, and ticks at round numbers.

function linearScale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((to - from) * (value - low)) / span;
}

function roundTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const sizes = [1, 2, 5, 10].map((factor) => factor * power);
  const at = sizes.findIndex((size) => size >= rough);
  const held = (size) => Math.floor(high / size + 1e-9) - Math.ceil(low / size - 1e-9) + 1;
  const step = at > 0 && held(sizes[at]) < 2 ? sizes[at - 1] : sizes[at]; // a single tick tells no distance
  if (!(step > 0 && step < Infinity)) return [];
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  const number = last - first < 20 * count ? last - first + 1 : 0; // none between neighbours among floating-point numbers
  return Array.from({ length: Math.max(0, number) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// Ticks of a logarithmic axis: powers of ten, or round numbers where less than two of them fit.
function logTicks(low, high, count) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (last - first < 1) return roundTicks(low, high, count).filter((tick) => tick > 0);
  const every = Math.max(1, Math.ceil((last - first) / count));
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(Number(`1e${power}`));
  return ticks;
}

// Values that differ by rounding alone.
function isLevel(low, high) {
  return high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high));
}

// Values that hardly differ do not fill an axis, where all ticks would read alike: four digits tell its ticks apart.
const LEAST_SPAN = 0.01;
function grown(low, high, log) {
  if (isLevel(low, high)) return log ? [low / 2, high * 2] : [low - (Math.abs(low) / 2 || 0.5), high + (Math.abs(high) / 2 || 0.5)];
  const least = LEAST_SPAN * Math.max(Math.abs(low), Math.abs(high));
  const middle = low + (high - low) / 2;
  return high - low < least ? [middle - least, middle + least] : [low, high];
}

// Runs of consecutive points whose value is not finite, as [first step, last step].
function lostRuns(line) {
  const runs = [];
  line.values.forEach((value, index) => {
    if (isFiniteNumber(value)) return;
    const step = line.steps[index];
    if (index && runs.length && !isFiniteNumber(line.values[index - 1])) runs[runs.length - 1][1] = step;
    else runs.push([step, step]);
  });
  return runs;
}

function nearestIndex(steps, wanted) {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - steps[low - 1] <= steps[low] - wanted ? low - 1 : low;
}
