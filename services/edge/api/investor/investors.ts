import { model, nullableString } from "../../fields/field.ts";
import { at, optional, within } from "../../fields/message.ts";
import { OpaquePage } from "../../fields/page.ts";
import {
  emailReply,
  engineFilter as engine,
  engineReply,
  idReply,
  investorLoginReply,
  investorNameReply,
  nullableSecretReply,
  nullableTimeReply,
  secretReply,
  timeReply,
} from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { route } from "../../http/route.ts";
import { labelChangeFields, labelFields, labelReplies } from "../schemas/labels.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount } from "../schemas/new-account.ts";
import { accountFilter, isPeriod } from "../schemas/period.ts";
import { aliasField, investorId, investorLogin, loginField, username } from "../schemas/request-fields.ts";

const identity = {
  id: idReply("Internal id of the Investor.", 8),
  mt5_login: at("login", investorLoginReply()),
  name: investorNameReply,
};
const createdAt = timeReply("When the Investor was created or registered.");

const InvestorItem = model("Investor", "An Investor as the directory shows it.", {
  engine: engineReply,
  ...identity,
  created_at: createdAt,
});

const CreatedInvestor = model("CreatedInvestor", "A new Investor with the secrets of its account.", {
  ...within("investor", { ...identity, created_at: createdAt }),
  password: at("mainPassword", secretReply("Main password of the account.")),
  investor_password: secretReply("Read-only password of the account.", { example: "Read-1234" }),
});

const RevealedInvestor = model("InvestorWithPasswords", "An Investor with the passwords of its account.", {
  ...within("investor", identity),
  mt5_password: at("mainPassword", nullableSecretReply("Main password of the account.")),
  mt5_investor_password: at("investorPassword", nullableSecretReply("Read-only password of the account.")),
  ...within("investor", { created_at: createdAt }),
});

export const ActiveInvestor = model(
  "ActiveInvestor",
  "An Investor whose capital is in the pool of a Master.",
  identity,
);

const InvestorProfile = model("InvestorProfile", "An Investor with your labels.", {
  ...within("investor", { engine: engineReply, ...identity }),
  email: emailReply,
  ...labelReplies,
  ...within("investor", { created_at: createdAt }),
});

export const createInvestor = route("POST /api/v1/investor/create", {
  scope: "investors:write",
  class: "create",
  summary: "Create an Investor",
  description: "Creates an account without balance and without subscription. The response contains secrets.",
  returns: "The new Investor with the passwords of its account.",
  body: {
    ...newAccount(aliasField("Alias of the Investor.", "Ada"), "pamm\\investor"),
    ...labelFields,
  },
  reply: CreatedInvestor,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/investors?name= before sending a new one.",
  refusals: [...NEW_ACCOUNT_REFUSALS, "external_id_in_use", "investor_erased"],
  call: ({ accounts }, request, context) => accounts.createInvestor(request, context),
});

export const registerInvestor = route("POST /api/v1/investor/add", {
  scope: "investors:write",
  summary: "Register an Investor",
  description:
    "Registers an existing account of the trading platform as an Investor. Moves no money and creates no subscription.",
  returns: "The registered Investor.",
  body: {
    mt5_login: at("login", loginField("Login of the existing account.", "investor")),
    name: aliasField("Alias of the Investor.", "Ada"),
    ...labelFields,
  },
  reply: InvestorItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its login in GET /api/v1/investor/directory?engine=PAMM before sending a new one.",
  refusals: [
    "login_already_registered",
    "external_id_in_use",
    "login_in_use",
    "platform_account_not_found",
    "currency_not_supported",
    "platform_unavailable",
  ],
  call: ({ accounts }, request, context) => accounts.addInvestor(request, context),
});

export const getInvestor = route("GET /api/v1/investor/:investor_id", {
  scope: "investors:read",
  summary: "Get an Investor",
  description: "By internal id, not by login.",
  returns: "The Investor.",
  params: { investor_id: at("id", investorId) },
  reply: InvestorProfile,
  refusals: ["investor_not_found"],
  call: ({ accounts }, request, context) => accounts.getInvestorProfile(request, context),
});

export const updateInvestor = route("PATCH /api/v1/investor/:investor_id", {
  scope: "investors:write",
  summary: "Update an Investor",
  description:
    "At least one field is required; omitted fields keep their value, and members of `metadata` are merged. Changes what this service keeps: on the trading platform the account keeps the names and the e-mail address that it was created with.",
  returns: "The Investor after the change.",
  params: { investor_id: at("id", investorId) },
  body: {
    name: optional(aliasField("Alias of the Investor.", "Ada")),
    email: optional(username),
    ...labelChangeFields,
  },
  reply: InvestorProfile,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/investor/{investor_id} before sending a new one.",
  refusals: ["investor_not_found", "external_id_in_use", "investor_erased"],
  call: ({ accounts }, request, context) => accounts.updateInvestor(request, context),
});

export const listInvestors = pageRoute("GET /api/v1/investor/directory", {
  scope: "investors:read",
  summary: "List Investors",
  description:
    "All Investors, ascending by id, page by page. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Investors.",
  filter: { engine },
  reply: OpaquePage("InvestorPage", InvestorItem),

  async call({ accounts }, { limit }, afterId, context) {
    const { items, hasMore } = await accounts.listInvestors({ afterId, limit }, context);
    return { items: items.map(({ investor }) => investor), hasMore };
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});

export const listInvestorProfiles = pageRoute("GET /api/v1/investors", {
  scope: "investors:read",
  summary: "Search Investors",
  description:
    "Investors with your labels, page by page. Filters are combined. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Investors.",
  filter: accountFilter,
  reply: OpaquePage("InvestorProfilePage", InvestorProfile),
  check: isPeriod("created_from", "created_to"),

  call: ({ accounts }, { limit, ...filter }, afterId, context) =>
    accounts.listInvestors({ filter, afterId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.investor?.id : undefined),
});

export const getActiveMaster = route("GET /api/v1/info/investor/:investor_login/master", {
  scope: "investors:read",
  summary: "Get the active Master of an Investor",
  description: "All three fields are null when the Investor has no active Master.",
  returns: "The Master that the Investor follows; three nulls when it follows none.",
  params: { investor_login: investorLogin },
  reply: model("ActiveMaster", "The Master that an Investor follows.", {
    master_login: nullableString({ description: "Trading login of the Master.", example: "3000001" }),
    name: nullableString({ description: "Alias of the Master.", example: "Alpha Strategy" }),
    started_at: nullableTimeReply("When the subscription began."),
  }),
  refusals: ["investor_not_found"],
  call: ({ subscriptions }, request, context) => subscriptions.getActiveMaster(request, context),
});

export const getInvestorWithPasswords = route("GET /api/v1/info/investor/:investor_login", {
  scope: "secrets:read",
  summary: "Get an Investor with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  returns: "The Investor with the passwords of its account.",
  params: { investor_login: at("login", investorLogin) },
  reply: RevealedInvestor,
  refusals: ["investor_not_found"],
  revealsSecrets: true,
  call: ({ accounts }, request, context) => accounts.revealInvestor(request, context),
});
