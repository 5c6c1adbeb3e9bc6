import process from "node:process";

type Row = { readonly step: string; readonly seconds: number; readonly seen: string };

/** What a rehearsal prints: each step when it begins and ends, what was seen, and all of it as a table. */
export type Rehearsal = {
  /** A failed step ends the rehearsal. */
  readonly step: <T>(name: string, work: (see: (text: string) => void) => Promise<T>) => Promise<T>;
  /** A rehearsal goes on after a check that does not hold, and fails at its end. */
  readonly check: (what: string, holds: boolean, found?: string) => void;
  readonly note: (text: string) => void;
  /** Prints the table; returns the exit code. */
  readonly finish: (summary?: readonly string[]) => number;
};

export function createRehearsal(title: string): Rehearsal {
  const rows: Row[] = [];
  const failures: string[] = [];
  const startedAt = performance.now();
  const print = (text: string): void => void process.stdout.write(`${text}\n`);
  print(title);
  return {
    async step(name, work) {
      const beganAt = performance.now();
      print(`\n${clock(beganAt - startedAt)}  ${rows.length + 1}. ${name}`);
      const seen: string[] = [];
      const see = (text: string): void => {
        seen.push(text);
        print(`       ${text}`);
      };
      const result = await work(see);
      rows.push({ step: name, seconds: (performance.now() - beganAt) / 1_000, seen: seen.join("; ") });
      return result;
    },
    check(what, holds, found = "") {
      const detail = found === "" ? "" : `: ${found}`;
      print(`       ${holds ? "holds" : "DOES NOT HOLD"}  ${what}${detail}`);
      if (!holds) failures.push(`${what}${detail}`);
    },
    note: print,
    finish(summary = []) {
      print("\n| step | seconds | what was seen |\n|---|---:|---|");
      for (const { step, seconds, seen } of rows) print(`| ${step} | ${seconds.toFixed(1)} | ${seen} |`);
      print("");
      for (const line of summary) print(line);
      for (const failure of failures) print(`does not hold: ${failure}`);
      print(failures.length === 0 ? "Everything holds." : `${failures.length} checks do not hold.`);
      return failures.length === 0 ? 0 : 1;
    },
  };
}

/** Minutes and seconds since the start. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
}
