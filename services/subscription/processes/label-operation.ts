import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { labelsFromProto } from "#kernel/contract/labels.ts";
import type { Labels as LabelsMessage } from "#proto/pamm/common/v1/labels.ts";
import type { Deps } from "../deps.ts";
import { insertOperationLabels } from "../store/operation-labels.ts";

/** Records what its client calls a command, before anything else of it. */
export async function labelOperation(
  { pool }: Pick<Deps, "pool">,
  labels: LabelsMessage | undefined,
  { commandId }: CallContext,
): Promise<void> {
  if (labels === undefined || commandId === "") return;
  await failAsUnavailable(() => insertOperationLabels(pool, commandId, labelsFromProto(labels)));
}
