/** Parts of a picture. Grey text is legible on white and on black, so a picture needs no background. */

export const WIDTH = 720;
export const GREY = "#7d8590";
/** They differ in lightness too, and are legible on white and on black. */
const COLOURS = ["#3b82c4", "#d9772b", "#3f9c5a", "#b5539c", "#8a7a2f", "#d04a4a", "#4fa3a5", "#8c6bd1", "#7d8590"];
const LEGEND_ROW = 20;

export type At = { readonly x: number; readonly y: number };

type Style = {
  readonly anchor?: "start" | "middle" | "end";
  readonly isTitle?: boolean;
};

export function picture(height: number, title: string, parts: readonly string[]): string {
  const size = `viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>${escape(title)}</title>`,
    text({ x: 8, y: 18 }, title, { isTitle: true }),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

export function text({ x, y }: At, content: string, { anchor = "start", isTitle = false }: Style = {}): string {
  const weight = isTitle ? ' font-weight="600" font-size="14"' : "";
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${GREY}"${weight}>${escape(content)}</text>`;
}

export function gridLine(from: At, to: At): string {
  const ends = `x1="${from.x.toFixed(1)}" y1="${from.y.toFixed(1)}" x2="${to.x.toFixed(1)}" y2="${to.y.toFixed(1)}"`;
  return `<line ${ends} stroke="${GREY}" stroke-opacity="0.35"/>`;
}

export function polyline(points: readonly At[], colour: string): string {
  const path = points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`;
}

export function dot({ x, y }: At, colour: string): string {
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3.5" fill="${colour}"/>`;
}

export function box({ x, y }: At, size: { readonly width: number; readonly height: number }, colour: string): string {
  return `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${size.width.toFixed(1)}" height="${size.height}" fill="${colour}"/>`;
}

export function legend({ x, y }: At, names: readonly string[]): string[] {
  return names.flatMap((name, index) => {
    const row = y + index * LEGEND_ROW;
    return [box({ x, y: row - 9 }, { width: 11, height: 11 }, colourOf(index)), text({ x: x + 18, y: row + 1 }, name)];
  });
}

export function legendHeight(names: readonly string[]): number {
  return names.length * LEGEND_ROW;
}

export function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? GREY;
}

/** The end of an axis: the next of 1, 2, 5, 10, 20, 50 ... */
export function endOfAxis(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
