import type { Labels as LabelsMessage, LabelsChange as ChangeMessage } from "#proto/pamm/common/v1/labels.ts";
import { type Labels, type LabelsChange, NO_LABELS } from "../labels.ts";

export function labelsFromProto(message: LabelsMessage | undefined): Labels {
  return message === undefined ? NO_LABELS : { externalId: message.externalId, metadata: message.metadata };
}

/** As they are stored. Undefined when there are none. */
export function labelsToProto(stored: Nullable<Labels>): LabelsMessage | undefined {
  const { externalId, metadata } = { externalId: stored.externalId ?? undefined, metadata: stored.metadata ?? {} };
  return externalId === undefined && Object.keys(metadata).length === 0 ? undefined : { externalId, metadata };
}

type Nullable<T> = { readonly [Name in keyof T]: T[Name] | null | undefined };

export function changeFromProto(message: ChangeMessage | undefined): LabelsChange | undefined {
  if (message === undefined) return undefined;
  return { externalId: message.externalId, set: message.setMetadata, removed: message.removedMetadata };
}
