import process from "node:process";
import type { Call } from "./http.ts";

export type Printer = {
  readonly title: (text: string) => void;
  /** Begins the next numbered step. */
  readonly step: (text: string) => void;
  readonly request: (call: Call) => void;
  readonly result: (status: number, text: string) => void;
  /** A remark; printed once when it is repeated. */
  readonly note: (text: string) => void;
};

const INDENT = "    ";
const BOLD = "1";
const DIM = "2";
const GREEN = "32";
const YELLOW = "33";

export function createPrinter(): Printer {
  const hasColour = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const paint = (code: string, text: string): string => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
  let steps = 0;
  let last = "";
  const write = (line: string): void => {
    if (line !== last) process.stdout.write(`${line}\n`);
    last = line;
  };
  return {
    title: (text) => write(`\n${paint(BOLD, text)}`),
    step(text) {
      steps += 1;
      write(`\n${paint(BOLD, `${String(steps).padStart(2)}. ${text}`)}`);
    },
    request: (call) => write(INDENT + paint(DIM, lineOf(call))),
    result: (status, text) => write(`${INDENT}${paint(status < 400 ? GREEN : YELLOW, String(status))}  ${text}`),
    note: (text) => write(`${INDENT}${text}`),
  };
}

/** Prints the whole body: the demo sends no secret in it. */
function lineOf({ method, path, body }: Call): string {
  return `${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;
}
