import type { AttemptFacts } from "../store/attempts.ts";

/** What is known beside the event itself. */
export type Circumstances = {
  /** Configured name of the platform's server, never an address. */
  readonly server: string;
  /** When the platform applied it, as far as we know. */
  readonly at: Date;
  /** What the sender of the attempt learned: then the event is its word, and not the platform's history. */
  readonly attempt?: AttemptFacts;
  /** For the person, when one has to look. */
  readonly evidence?: Readonly<Record<string, unknown>>;
  /** The deal that they have to look at. */
  readonly dealId?: bigint;
  /** How often that deal had been corrected by then. */
  readonly dealState?: number;
};

/** Without a time it was applied just now, by the clock of the database. */
export type EventCircumstances = Omit<Circumstances, "at"> & { readonly at?: Date | undefined };
