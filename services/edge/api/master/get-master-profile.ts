import { Type } from "typebox";
import { at } from "../../fields/message.ts";
import { route } from "../../http/route.ts";
import { MasterProfileWithState } from "../schemas/master.ts";
import { masterId } from "../schemas/request-fields.ts";

export const getMasterProfile = route({
  operationId: "getMasterProfile",
  method: "GET",
  url: "/api/v1/master/:master_id/profile",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master with your labels",
  description:
    "By internal id, with e-mail address, `external_id`, `metadata`, and where the Master is in its life. `GET /masters?mt5_login=` finds the id of a login.",
  returns: "The Master.",
  params: Type.Object({ master_id: at("id", masterId) }),
  reply: MasterProfileWithState,
  refusals: ["master_not_found"],

  async call({ accounts }, request, context) {
    const [profile, status] = await Promise.all([
      accounts.getMasterProfile(request, context),
      accounts.getMasterStatus(request, context),
    ]);
    return { profile, status };
  },
});
