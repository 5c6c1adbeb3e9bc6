import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { json, withKey } from "../../journey/support/client.ts";
import { newOperator, reviewAbout } from "../../journey/support/reviews.ts";
import type { Live } from "./live.ts";
import type { Votes } from "./broker.ts";

/** Two operators that allocate what dealers have moved on a Master. */
export async function openVotes({ system, client }: Live): Promise<Votes> {
  const keys = [await newOperator(system, "Allocates"), await newOperator(system, "Approves")];
  return async (masterLogin, dealId) => {
    const review = await reviewAbout(client, masterLogin, "external_funds_on_master");
    for (const key of keys) {
      const vote = { id: textOf(review, "id"), action: "allocate", deal_id: dealId, note: "Checked." };
      const { status, text } = await withKey(client, key).send("/api/v1/ops/reviews", {
        method: "POST",
        ...json(vote),
      });
      expect(status, text).toBe(200);
    }
  };
}
