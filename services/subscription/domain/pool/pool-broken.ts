/** The books of a pool contradict themselves or the platform. Stops the Master pending manual review. */
export class PoolBroken extends Error {
  override readonly name = "PoolBroken";
}
