import process from "node:process";

const SHOWN_LEVELS = new Set(["warn", "error", "fatal"]);
const NAME_WIDTH = 12;
/** Part of every entry, or shown before the other fields. */
const COMMON_FIELDS = new Set(["level", "time", "service", "msg"]);

export function print(name: string, text: string): void {
  const time = new Date().toTimeString().slice(0, 8);
  process.stdout.write(`${time} ${name.padEnd(NAME_WIDTH)} ${text}\n`);
}

/** The short form of a service's log line for the terminal; undefined when the line stays in the file. */
export function forTerminal(line: string): string | undefined {
  if (!line.startsWith("{")) return line.trim() === "" ? undefined : line;
  const entry = parse(line);
  if (entry === undefined) return line;
  const { level, msg } = entry;
  if (typeof level !== "string" || !SHOWN_LEVELS.has(level)) return undefined;
  const fields = Object.entries(entry).filter(([name]) => !COMMON_FIELDS.has(name));
  const text = fields.map(([name, value]) => `${name}=${inShort(value)}`);
  return [`${level}: ${String(msg)}`, ...text].join(" ");
}

/** An error is shown by its message; its stack is in the file. */
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
