import { Differs, type Need, NotTested } from "./outcome.ts";
import { openWorld, requireNeeds, type Settings, type World } from "./world.ts";

/** One sentence of the specification that can be observed from outside. */
type Sentence = {
  /** Section of the specification and a name. */
  readonly id: string;
  readonly text: string;
  readonly expected: string;
  readonly needs?: readonly Need[];
  /** Returns what was observed when that is as expected, and throws `Differs` otherwise. */
  readonly check: (world: World) => Promise<string>;
};

/** A sentence that no client can observe, with the reason. */
type Unobservable = { readonly id: string; readonly text: string; readonly reason: string };

export type Row = {
  readonly id: string;
  readonly text: string;
  readonly expected: string;
  readonly observed: string;
  readonly result: "works" | "differs" | "not tested";
};

export type Section = readonly (Sentence | Unobservable)[];

/** Checks sections beside each other, and the sentences of one in their order. */
export async function runKit(settings: Settings, sections: readonly Section[]): Promise<Row[]> {
  const world = await openWorld(settings);
  const rows = sections.map(async (section) => {
    const checked: Row[] = [];
    for (const sentence of section) checked.push(await rowOf(sentence, world));
    return checked;
  });
  return (await Promise.all(rows)).flat();
}

async function rowOf(sentence: Sentence | Unobservable, world: World): Promise<Row> {
  const { id, text } = sentence;
  if ("reason" in sentence) return { id, text, expected: "", observed: sentence.reason, result: "not tested" };
  const { expected, needs = [], check } = sentence;
  try {
    requireNeeds(world, needs);
    return { id, text, expected, observed: await check(world), result: "works" };
  } catch (error) {
    if (error instanceof NotTested) return { id, text, expected, observed: error.message, result: "not tested" };
    const observed = error instanceof Differs ? error.message : `the check failed: ${String(error)}`;
    return { id, text, expected, observed, result: "differs" };
  }
}

const HEAD = ["sentence", "", "expected", "observed", "result"];

/** The table in Markdown, and the sums. */
export function report(rows: readonly Row[]): string {
  const cells = rows.map(({ id, text, expected, observed, result }) => [id, text, expected, observed, result]);
  const lines = [HEAD, HEAD.map(() => "---"), ...cells].map((row) => `| ${row.map(escaped).join(" | ")} |`);
  const count = (result: Row["result"]): string => `${rows.filter((row) => row.result === result).length} ${result}`;
  return `${lines.join("\n")}\n\n${rows.length} sentences: ${count("works")}, ${count("differs")}, ${count("not tested")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
