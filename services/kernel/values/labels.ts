import type { FieldError } from "#kernel/values/refusal.ts";
import type { Labels as LabelsMessage, LabelsChange } from "#proto/pamm/common/v1/labels.ts";

/** What a client gives to what it makes. The column `labels` of a table has it as JSON with the same members, or null. */
export type Labels = Readonly<LabelsMessage>;

/** Of usual CRM systems; characters, not bytes. */
export const MAX_EXTERNAL_ID_LENGTH = 255;
export const MAX_METADATA_MEMBERS = 20;
export const MAX_METADATA_VALUE_LENGTH = 500;
/** Letters, digits, `_`, `-` and `.`, up to 40: as an id in any language, and no name that is special in one, such as __proto__. */
export const METADATA_KEY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

const NO_LABELS: Labels = { externalId: undefined, metadata: {} };
const TOO_MANY = wrong("metadata", "too_many", `must have at most ${MAX_METADATA_MEMBERS} members`);
const CONTROL = /\p{Cc}/u;

/** The text of the column; undefined without any label. */
export function labelsText({ externalId, metadata }: Labels = NO_LABELS): string | undefined {
  const hasNone = externalId === undefined && Object.keys(metadata).length === 0;
  return hasNone ? undefined : JSON.stringify({ externalId, metadata });
}

/** Members that are removed and set are set. */
export function changed({ externalId, metadata }: Labels = NO_LABELS, change: LabelsChange): Labels {
  const kept = Object.entries(metadata).filter(([key]) => !change.removedMetadata.includes(key));
  return {
    externalId: change.externalId === "" ? undefined : (change.externalId ?? externalId),
    metadata: { ...Object.fromEntries(kept), ...change.setMetadata },
  };
}

/** Every mistake. The edge checks the same with the other fields of a request; this is for every caller. */
export function labelErrors({ externalId, metadata }: Labels = NO_LABELS): FieldError[] {
  const members = Object.entries(metadata);
  return [
    externalIdError(externalId),
    members.length > MAX_METADATA_MEMBERS ? TOO_MANY : undefined,
    ...members.map(([key, value]) => memberError(key, value)),
  ].filter((error) => error !== undefined);
}

function externalIdError(externalId: string | undefined): FieldError | undefined {
  if (externalId === undefined) return undefined;
  if (externalId.trim() === "") return wrong("external_id", "empty", "must not be empty");
  return textError("external_id", externalId, MAX_EXTERNAL_ID_LENGTH);
}

function memberError(key: string, value: string): FieldError | undefined {
  if (!METADATA_KEY.test(key)) return wrong(`metadata.${key.slice(0, 40)}`, "malformed", "is not a valid key");
  return textError(`metadata.${key}`, value, MAX_METADATA_VALUE_LENGTH);
}

function textError(field: string, text: string, max: number): FieldError | undefined {
  if (CONTROL.test(text)) return wrong(field, "control_character", "must not contain control characters");
  return Array.from(text).length > max ? wrong(field, "too_long", `must have at most ${max} characters`) : undefined;
}

function wrong(field: string, code: string, problem: string): FieldError {
  return { field, code, message: `${field} ${problem}.` };
}
