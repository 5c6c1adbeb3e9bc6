import type { FieldError } from "#kernel/refusal.ts";

export type Metadata = Readonly<Record<string, string>>;

/** What a client gives to what it makes. */
export type Labels = { readonly externalId: string | undefined; readonly metadata: Metadata };

export type LabelsChange = {
  /** Undefined keeps it, empty removes it. */
  readonly externalId: string | undefined;
  readonly set: Metadata;
  readonly removed: readonly string[];
};

export const NO_LABELS: Labels = { externalId: undefined, metadata: {} };

/** Of usual CRM systems; characters, not bytes. */
export const MAX_EXTERNAL_ID_LENGTH = 255;
export const MAX_METADATA_MEMBERS = 20;
export const MAX_METADATA_VALUE_LENGTH = 500;
/** Letters, digits, `_`, `-` and `.`, up to 40: as an id in any language, and no name that is special in one, such as __proto__. */
export const METADATA_KEY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

const CONTROL = /\p{Cc}/u;

/** Members that are removed and set are set. */
export function changed({ externalId, metadata }: Labels, change: LabelsChange): Labels {
  const kept = Object.entries(metadata).filter(([key]) => !change.removed.includes(key));
  return {
    externalId: change.externalId === "" ? undefined : (change.externalId ?? externalId),
    metadata: { ...Object.fromEntries(kept), ...change.set },
  };
}

/** Every mistake. The edge checks the same with the other fields of a request; this is for every caller. */
export function labelErrors({ externalId, metadata }: Labels): FieldError[] {
  const members = Object.entries(metadata);
  return [
    externalIdError(externalId),
    members.length > MAX_METADATA_MEMBERS ? tooMany() : undefined,
    ...members.map(([key, value]) => memberError(key, value)),
  ].filter((error) => error !== undefined);
}

export function tooMany(): FieldError {
  const message = `metadata must have at most ${MAX_METADATA_MEMBERS} members.`;
  return { field: "metadata", code: "too_many", message };
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
