const AT_A_TIME = 4;

/** Does the work for each, a few at a time. */
export async function aFewAtATime<T>(each: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = each.values();
  const worker = async (): Promise<void> => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}
