import { type TSchema, Type } from "typebox";
import {
  MAX_EXTERNAL_ID_LENGTH,
  MAX_METADATA_MEMBERS,
  MAX_METADATA_VALUE_LENGTH,
  METADATA_KEY,
} from "#kernel/values/labels.ts";
import type { Labels, LabelsChange } from "#proto/pamm/common/v1/labels.ts";
import { nullableString, text } from "../../fields/field.ts";
import { apart, at, optional, sent, shown } from "../../fields/message.ts";

const EXTERNAL_ID = { shown: { minLength: 1, maxLength: MAX_EXTERNAL_ID_LENGTH } };
const NOT_SENT = "It is not sent to the trading platform.";
const MEMBERS = `Up to ${MAX_METADATA_MEMBERS} members; keys have letters, digits, \`_\`, \`-\` and \`.\`, up to 40, values up to ${MAX_METADATA_VALUE_LENGTH} characters.`;

const externalIdField = (description: string) =>
  text("external_id", { description, example: "CRM-7001", ...EXTERNAL_ID });

/** Of a body: `metadata` carries it. */
const ownId = (description: string) => optional(apart(externalIdField(description)));

const EXAMPLE = { segment: "retail" };

/** For a body that makes an account. */
export const labelFields = {
  external_id: ownId(`Your own id of the account, unique among those of its role. ${NOT_SENT}`),
  metadata: metadataField(),
};

/** For a command about money. */
export const operationLabelFields = {
  external_id: ownId(
    "Your own id of the operation, by which the list of operations finds it. A request with another one is no duplicate.",
  ),
  metadata: metadataField(),
};

/** For a body that changes one. */
export const labelChangeFields = {
  external_id: optional(
    Type.Unsafe<string | null>({
      ...externalIdField(`Your own id of the account, unique among those of its role; null removes it.`),
      type: ["string", "null"],
    }),
  ),
  metadata: optional(
    at(
      "labels",
      sent<Readonly<Record<string, string | null>>, LabelsChange | undefined>(
        metadata(`Members to add or change; null removes one, the others stay. ${MEMBERS}`, ["string", "null"]),
        labelsChangeOf,
      ),
    ),
  ),
};

export const externalIdFilter = optional(externalIdField("Only what has this `external_id`, exactly."));

export const externalIdReply = (description: string) =>
  at(
    "labels",
    shown(
      nullableString({ description, example: "CRM-7001" }),
      (labels: Labels | undefined) => labels?.externalId ?? null,
    ),
  );

export const metadataReply = at(
  "labels",
  shown<Readonly<Record<string, string>>, Labels | undefined>(
    {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Your own data; an empty object without any.",
      examples: [EXAMPLE],
    },
    (labels) => labels?.metadata ?? {},
  ),
);

export const labelReplies = {
  external_id: externalIdReply("Your own id of the account; null without one."),
  metadata: metadataReply,
};

/** Carries `external_id`, too: both fields are one member of the message. */
function metadataField() {
  const schema = metadata(`Your own data. ${MEMBERS} ${NOT_SENT}`, "string");
  return optional(at("labels", sent<Readonly<Record<string, string>>, Labels | undefined>(schema, labelsOf)));
}

function metadata(description: string, type: "string" | readonly ["string", "null"]): TSchema {
  return {
    type: "object",
    additionalProperties: { type, "x-check": "metadata_value" },
    description,
    examples: [EXAMPLE],
    maxProperties: MAX_METADATA_MEMBERS,
    propertyNames: { pattern: METADATA_KEY.source },
    "x-shown": { additionalProperties: { type, maxLength: MAX_METADATA_VALUE_LENGTH } },
  };
}

type Given<Value> = {
  readonly external_id?: string | Value;
  readonly metadata?: Readonly<Record<string, string | Value>>;
};

/** Undefined when the request has none. */
function labelsOf(body: object): Labels | undefined {
  const { external_id: externalId, metadata: members } = body as Given<never>;
  if (externalId === undefined && members === undefined) return undefined;
  return { externalId, metadata: { ...members } };
}

function labelsChangeOf(body: object): LabelsChange | undefined {
  const { external_id: externalId, metadata: members } = body as Given<null>;
  if (externalId === undefined && members === undefined) return undefined;
  const entries = Object.entries(members ?? {});
  return {
    externalId: externalId === null ? "" : externalId,
    setMetadata: Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null)),
    removedMetadata: entries.filter(([, value]) => value === null).map(([key]) => key),
  };
}
