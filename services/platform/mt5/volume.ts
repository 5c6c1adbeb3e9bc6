import { badAnswer } from "./errors.ts";
import type { Fields } from "./fields.ts";

/** The extended volume counts 1e-8 lots, the plain one 1e-4; servers before it tell the plain one only. */
const EXTENDED_PER_PLAIN = 10_000n;
/** Of everybody behind us. */
const MAX_VOLUME = 2n ** 63n - 1n;

/** Lots in units of 1e-8. */
export function volumeOf(fields: Fields, name: string): bigint {
  const extended = `${name}Ext`;
  const volume = fields.has(extended) ? fields.integer(extended) : fields.integer(name) * EXTENDED_PER_PLAIN;
  if (volume < 0n || volume > MAX_VOLUME) throw badAnswer(`the platform's answer has a ${name} that is no volume`);
  return volume;
}
