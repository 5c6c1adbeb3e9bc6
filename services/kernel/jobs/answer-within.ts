/** The answer, or `late` when there is none in time. What was asked for goes on, and its failure after that time is ignored. */
export async function answerWithin<T>(asked: Promise<T>, ms: number, late: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([asked, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the work succeeds in time. */
export async function succeedsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const succeeded = work.then(
    () => true,
    () => false,
  );
  return await answerWithin(succeeded, ms, false);
}
