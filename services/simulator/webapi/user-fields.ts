/** A field of the user record that a client may set: its documented name, its name in a query, and its limits. */
export type TextField = {
  readonly name: string;
  readonly query: string | undefined;
  readonly limit: number;
  /** Shown to managers with the right to personal data only. */
  readonly isPersonal: boolean;
};

export const MAX_NAME_LENGTH = 127;
/** Limits that the manual of the platform does not contain. */
const ANY_LIMIT = 63;

function field(name: string, query: string | undefined, limit = ANY_LIMIT, isPersonal = true): TextField {
  return { name, query, limit, isPersonal };
}

export const TEXT_FIELDS: readonly TextField[] = [
  field("Name", "name", MAX_NAME_LENGTH),
  field("FirstName", undefined),
  field("LastName", undefined),
  field("MiddleName", undefined),
  field("Company", "company", 63, false),
  field("Account", "account"),
  field("Country", "country"),
  field("City", "city"),
  field("State", "state"),
  field("ZipCode", "zipcode"),
  field("Address", "address", 127),
  field("Phone", "phone"),
  field("Email", "email"),
  field("ID", "id"),
  field("Status", "status"),
  field("Comment", "comment", 63),
  field("PhonePassword", "pass_phone"),
  field("MQID", undefined, ANY_LIMIT, false),
  field("LeadSource", undefined, ANY_LIMIT, false),
  field("LeadCampaign", undefined, ANY_LIMIT, false),
];

export type NumberField = { readonly name: string; readonly query: string | undefined };

export const NUMBER_FIELDS: readonly NumberField[] = [
  { name: "Language", query: "language" },
  { name: "Color", query: "color" },
  { name: "Agent", query: "agent" },
  { name: "LimitOrders", query: undefined },
  { name: "LimitPositions", query: undefined },
];

/** The vendor's pages and headers spell some names differently: both are read. */
export const BODY_ALIASES: Readonly<Record<string, string>> = {
  ZipCode: "ZIPCode",
  LimitPositions: "LimitPositionsValue",
};
