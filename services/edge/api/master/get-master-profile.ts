import { Type } from "typebox";
import { MasterProfile, MasterProfileWithState } from "../schemas/master.ts";
import { at } from "../../fields/message.ts";
import { masterId, masterLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getMasterProfile = route({
  operationId: "getMasterProfile",
  method: "GET",
  url: "/api/v1/master/:master_id/profile",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master with your labels",
  description: "By internal id, with e-mail address, `external_id` and `metadata`.",
  returns: "The Master.",
  params: Type.Object({ master_id: at("id", masterId) }),
  reply: MasterProfile,
  refusals: ["master_not_found"],
  call: ({ accounts }, request, context) => accounts.getMasterProfile(request, context),
});

export const getProfileByLogin = route({
  operationId: "getMasterProfileByLogin",
  method: "GET",
  url: "/api/v1/info/master/:master_login/profile",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master by its login",
  description:
    "By trading login, with internal id, e-mail address, `external_id`, `metadata`, and where the Master is in its life.",
  returns: "The Master.",
  params: Type.Object({ master_login: at("login", masterLogin) }),
  reply: MasterProfileWithState,
  refusals: ["master_not_found"],

  async call({ accounts }, request, context) {
    const { id } = await accounts.findMaster(request, context);
    const [profile, status] = await Promise.all([
      accounts.getMasterProfile({ id }, context),
      accounts.getMasterStatus({ id }, context),
    ]);
    return { profile, status };
  },
});
