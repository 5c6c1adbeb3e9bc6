import { proveMaster } from "../../services/subscription/domain/proof.ts";
import { dollars } from "./engine/cents.ts";
import { shownOf } from "./engine/own-capital.ts";
import type { World } from "./engine/world.ts";

/** The function under test; a mutant replaces it. */
export type ProofUnderTest = { readonly proveMaster: typeof proveMaster };

export const REAL_PROOF: ProofUnderTest = { proveMaster };

/** Throws when the proof of a Master shows its own capital otherwise than the reference. */
export function expectShown({ masters }: World, tested: ProofUnderTest): void {
  for (const master of masters) {
    const { name, pool, moved: external, acknowledged, balance: platform } = master;
    const { pooled, waiting } = pool.cash("own");
    const money = { own: pooled + waiting, external, acknowledged, imported: 0n, unallocated: 0n };
    const real = tested.proveMaster(name, money, [], { platform, lastDealId: 0n });
    const exact = shownOf(master);
    if (real.quarantined === exact.quarantined && real.ownCapital === exact.own) continue;
    const shown = `${dollars(real.quarantined)} and ${dollars(real.ownCapital)}`;
    throw new Error(
      `the proof of ${name} shows ${shown}, and ${dollars(exact.quarantined)} and ${dollars(exact.own)} by the reference`,
    );
  }
}
