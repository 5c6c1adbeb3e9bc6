import process from "node:process";

const SERIOUS = new Set(["warn", "error", "fatal"]);
const NAME_WIDTH = 12;
/** In every line, or shown in front of it. */
const FRAME = new Set(["level", "time", "service", "msg"]);

export function say(name: string, text: string): void {
  const time = new Date().toTimeString().slice(0, 8);
  process.stdout.write(`${time} ${name.padEnd(NAME_WIDTH)} ${text}\n`);
}

/** A line of a service's log as somebody at a terminal wants it; undefined when it is for the file only. */
export function forTerminal(line: string): string | undefined {
  if (!line.startsWith("{")) return line.trim() === "" ? undefined : line;
  const entry = parse(line);
  if (entry === undefined) return line;
  const { level, msg } = entry;
  if (typeof level !== "string" || !SERIOUS.has(level)) return undefined;
  const fields = Object.entries(entry).filter(([name]) => !FRAME.has(name));
  const text = fields.map(([name, value]) => `${name}=${inShort(value)}`);
  return [`${level}: ${String(msg)}`, ...text].join(" ");
}

/** Of an error its message; where it came from is in the file. */
function inShort(value: unknown): string {
  if (typeof value === "string") return value;
  const hasMessage = typeof value === "object" && value !== null && "message" in value;
  return hasMessage ? JSON.stringify(value.message) : JSON.stringify(value);
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
