import { type TUnsafe, Type } from "typebox";
import type { FieldError } from "#kernel/refusal.ts";
import {
  MAX_EXTERNAL_ID_LENGTH,
  MAX_METADATA_MEMBERS,
  MAX_METADATA_VALUE_LENGTH,
  METADATA_KEY,
  tooMany,
} from "#kernel/labels.ts";
import type { Labels, LabelsChange } from "#proto/pamm/common/v1/labels.ts";
import { CHECKS } from "./checks.ts";
import { nullableString, text } from "./field.ts";

const EXTERNAL_ID = { shown: { minLength: 1, maxLength: MAX_EXTERNAL_ID_LENGTH } };
const NOT_SENT = "It is not sent to the trading platform.";
const MEMBERS = `Up to ${MAX_METADATA_MEMBERS} members; keys have letters, digits, \`_\`, \`-\` and \`.\`, up to 40, values up to ${MAX_METADATA_VALUE_LENGTH} characters.`;

const externalIdField = (description: string) =>
  text("external_id", { description, example: "CRM-7001", ...EXTERNAL_ID });

const metadataField = Type.Optional(
  members<string>(`Your own data. ${MEMBERS} ${NOT_SENT}`, { type: "string", maxLength: MAX_METADATA_VALUE_LENGTH }),
);

/** For a body that makes an account. */
export const labelFields = {
  external_id: Type.Optional(
    externalIdField(`Your own id of the account, unique among those of its role. ${NOT_SENT}`),
  ),
  metadata: metadataField,
};

/** For a command about money. */
export const operationLabelFields = {
  external_id: Type.Optional(
    externalIdField(
      "Your own id of the operation, by which the list of operations finds it. A request with another one is no duplicate.",
    ),
  ),
  metadata: metadataField,
};

/** For a body that changes one. */
export const labelChangeFields = {
  external_id: Type.Optional(
    Type.Unsafe<string | null>({
      ...externalIdField(`Your own id of the account, unique among those of its role; null removes it.`),
      type: ["string", "null"],
    }),
  ),
  metadata: Type.Optional(
    members<string | null>(`Members to add or change; null removes one, the others stay. ${MEMBERS}`, {
      type: ["string", "null"],
      maxLength: MAX_METADATA_VALUE_LENGTH,
    }),
  ),
};

export const externalIdFilter = Type.Optional(externalIdField("Only what has this `external_id`, exactly."));

export const metadataReply = members<string>("Your own data; an empty object without any.", { type: "string" });

export const labelReplies = {
  external_id: nullableString({ description: "Your own id of the account; null without one.", example: "CRM-7001" }),
  metadata: metadataReply,
};

/** The values are shown with their limits, and checked by `metadataErrors`, which names the key. */
function members<Value extends string | null>(
  description: string,
  { maxLength, ...value }: Readonly<Record<string, unknown>>,
): TUnsafe<Readonly<Record<string, Value>>> {
  const shown = maxLength === undefined ? value : { ...value, maxLength };
  return Type.Unsafe<Readonly<Record<string, Value>>>({
    type: "object",
    additionalProperties: value,
    description,
    examples: [{ segment: "retail" }],
    "x-shown": {
      additionalProperties: shown,
      ...(maxLength === undefined
        ? {}
        : { maxProperties: MAX_METADATA_MEMBERS, propertyNames: { pattern: METADATA_KEY.source } }),
    },
  });
}

/** Every mistake of metadata that has its types; other ones are reported by the schema. */
export function metadataErrors(metadata: unknown): readonly FieldError[] {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return [];
  const entries = Object.entries(metadata);
  const added = entries.filter(([, value]) => value !== null);
  return [
    ...(added.length > MAX_METADATA_MEMBERS ? [tooMany()] : []),
    ...entries.slice(0, MAX_METADATA_MEMBERS + 1).flatMap(([key, value]) => memberErrors(key, value as unknown)),
  ];
}

function memberErrors(key: string, value: unknown): readonly FieldError[] {
  const field = `metadata.${Array.from(key).slice(0, 40).join("").toWellFormed()}`;
  if (!METADATA_KEY.test(key)) {
    const message = `${field} must have a key of 1 to 40 letters, digits, _, - and ., which begins with a letter or digit.`;
    return [{ field, code: "malformed", message }];
  }
  const problem = typeof value === "string" ? CHECKS.metadata_value(value) : undefined;
  return problem === undefined ? [] : [{ field, code: problem.code, message: `${field} ${problem.text}.` }];
}

type Given = {
  readonly external_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
};

/** Undefined when the request has none. */
export function labelsOf({ external_id: externalId, metadata }: Given): Labels | undefined {
  if (externalId === undefined && metadata === undefined) return undefined;
  return { externalId, metadata: { ...metadata } };
}

type GivenChange = {
  readonly external_id?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
};

export function labelsChangeOf({ external_id: externalId, metadata }: GivenChange): LabelsChange | undefined {
  if (externalId === undefined && metadata === undefined) return undefined;
  const entries = Object.entries(metadata ?? {});
  return {
    externalId: externalId === null ? "" : externalId,
    setMetadata: Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null)),
    removedMetadata: entries.filter(([, value]) => value === null).map(([key]) => key),
  };
}

export function labelsReply(labels: Labels | undefined) {
  return { external_id: labels?.externalId ?? null, metadata: labels?.metadata ?? {} };
}
