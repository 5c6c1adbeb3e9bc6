/** The books of a pool contradict themselves or the platform. Nothing of that Master may go on: better late than wrong. */
export class PoolBroken extends Error {
  override readonly name = "PoolBroken";
}
