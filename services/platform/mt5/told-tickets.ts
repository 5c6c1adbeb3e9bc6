/** Tickets that the platform has told this process as answers to commands. */
export type ToldTickets = {
  /** False when it was told before: a deal is the answer to one command. */
  readonly isFirst: (ticket: bigint) => boolean;
};

/** An answer that comes again comes soon; older tickets are found in the books. */
const REMEMBERED = 10_000;

export function createToldTickets(): ToldTickets {
  const told = new Set<bigint>();
  return {
    isFirst(ticket) {
      if (told.has(ticket)) return false;
      told.add(ticket);
      const [oldest] = told;
      if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
      return true;
    },
  };
}
