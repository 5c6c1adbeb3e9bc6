import type { Need } from "./outcome.ts";
import type { World } from "./world.ts";

/** One sentence of the specification that can be observed from outside. */
export type Sentence = {
  /** Section of the specification and a name. */
  readonly id: string;
  readonly text: string;
  readonly expected: string;
  readonly needs?: readonly Need[];
  /** Returns what was observed when that is as expected, and throws `Differs` otherwise. */
  readonly check: (world: World) => Promise<string>;
};

/** A sentence that no client can observe, with the reason. */
export type Unobservable = { readonly id: string; readonly text: string; readonly reason: string };
