import { Type } from "typebox";
import {
  idReply,
  loginReply,
  nameReply,
  strategyNameReply,
  strategyReply,
  timeReply,
} from "../../schemas/reply-fields.ts";
import { masterId } from "../../schemas/request-fields.ts";
import { masterFields } from "../../schemas/master.ts";
import { route } from "../../route.ts";

export const getMaster = route({
  method: "GET",
  url: "/api/v1/master/:master_id",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master",
  description: "By internal id, not by login.",
  params: Type.Object({ master_id: masterId }),
  reply: Type.Object({
    id: idReply("Internal id of the Master."),
    mt5_login: loginReply("Trading login."),
    name: nameReply,
    strategy_name: strategyNameReply,
    strategy: strategyReply,
    created_at: timeReply("When the Master was created or registered."),
  }),
  refusals: ["master_not_found"],

  async handle({ accounts }, { params }, context) {
    return masterFields(await accounts.getMaster({ id: BigInt(params.master_id) }, context));
  },
});
