import { Type } from "typebox";
import {
  MAX_EXTERNAL_ID_LENGTH,
  MAX_METADATA_MEMBERS,
  MAX_METADATA_VALUE_LENGTH,
  METADATA_KEY,
} from "#kernel/labels.ts";
import type { Labels, LabelsChange } from "#proto/pamm/common/v1/labels.ts";
import { nullableString, text } from "../../fields/field.ts";

const EXTERNAL_ID = { shown: { minLength: 1, maxLength: MAX_EXTERNAL_ID_LENGTH } };
const NOT_SENT = "It is not sent to the trading platform.";
const MEMBERS = `Up to ${MAX_METADATA_MEMBERS} members; keys have letters, digits, \`_\`, \`-\` and \`.\`, up to 40, values up to ${MAX_METADATA_VALUE_LENGTH} characters.`;

const externalIdField = (description: string) =>
  text("external_id", { description, example: "CRM-7001", ...EXTERNAL_ID });

const EXAMPLE = { segment: "retail" };

const metadataField = Type.Optional(metadata<string>(`Your own data. ${MEMBERS} ${NOT_SENT}`, "string"));

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
    metadata<string | null>(`Members to add or change; null removes one, the others stay. ${MEMBERS}`, [
      "string",
      "null",
    ]),
  ),
};

export const externalIdFilter = Type.Optional(externalIdField("Only what has this `external_id`, exactly."));

export const metadataReply = Type.Unsafe<Readonly<Record<string, string>>>({
  type: "object",
  additionalProperties: { type: "string" },
  description: "Your own data; an empty object without any.",
  examples: [EXAMPLE],
});

export const labelReplies = {
  external_id: nullableString({ description: "Your own id of the account; null without one.", example: "CRM-7001" }),
  metadata: metadataReply,
};

function metadata<Value extends string | null>(description: string, type: "string" | readonly ["string", "null"]) {
  return Type.Unsafe<Readonly<Record<string, Value>>>({
    type: "object",
    additionalProperties: { type, "x-check": "metadata_value" },
    description,
    examples: [EXAMPLE],
    maxProperties: MAX_METADATA_MEMBERS,
    propertyNames: { pattern: METADATA_KEY.source },
    "x-shown": { additionalProperties: { type, maxLength: MAX_METADATA_VALUE_LENGTH } },
  });
}

type Given = {
  readonly external_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
};

/** Undefined when the request has none. */
export function labelsOf({ external_id: externalId, metadata: members }: Given): Labels | undefined {
  if (externalId === undefined && members === undefined) return undefined;
  return { externalId, metadata: { ...members } };
}

type GivenChange = {
  readonly external_id?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
};

export function labelsChangeOf({ external_id: externalId, metadata: members }: GivenChange): LabelsChange | undefined {
  if (externalId === undefined && members === undefined) return undefined;
  const entries = Object.entries(members ?? {});
  return {
    externalId: externalId === null ? "" : externalId,
    setMetadata: Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null)),
    removedMetadata: entries.filter(([, value]) => value === null).map(([key]) => key),
  };
}

export function labelsReply(labels: Labels | undefined) {
  return { external_id: labels?.externalId ?? null, metadata: labels?.metadata ?? {} };
}
