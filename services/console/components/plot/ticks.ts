const DAY_S = 86_400;
const MINUTE_S = 60;
const MS = 1_000;
const MAX_DECIMALS = 8;

/** Decimals in which neighbouring ticks differ. */
function decimalsOf(step: number): number {
  return step > 0 ? Math.min(MAX_DECIMALS, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))) : 0;
}

/** Texts of computed positions; amounts of the API are never written this way. */
export function valueTicks(axis: "amount" | "ratio", positions: readonly number[], step: number): string[] {
  const factor = axis === "ratio" ? 100 : 1;
  const decimals = decimalsOf(step * factor);
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return positions.map((position) => {
    const text = format.format(position * factor + 0).replace("-", "−");
    return axis === "ratio" ? `${text} %` : text;
  });
}

/** UTC. A tick within a day has the day below it where the day begins to count. */
export function timeTicks(positions: readonly number[], step: number): string[] {
  let before = "";
  return positions.map((position) => {
    const iso = new Date(position * MS).toISOString();
    const day = iso.slice(0, 10);
    if (step >= DAY_S) return day;
    const time = iso.slice(11, endOf(step));
    const text = day === before ? time : `${time}\n${day}`;
    before = day;
    return text;
  });
}

/** Where the text of an instant ends so that neighbouring ticks differ: minutes, seconds, tenths, milliseconds. */
function endOf(step: number): number {
  if (step >= MINUTE_S) return 16;
  return step >= 1 ? 19 : step >= 0.1 ? 21 : 23;
}
