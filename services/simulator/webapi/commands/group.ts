import { groupMask } from "../../domain/group-mask.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { type Params, requiredText } from "../params.ts";
import { groupRecord } from "../records/group-record.ts";
import type { Answer } from "../reply.ts";
import { visibleGroups } from "../visible.ts";

/** A name gives an object, a mask an array. */
function getGroup(server: TradeServer, params: Params): Answer {
  const asked = requiredText(params, "group");
  const isAsked = groupMask(asked);
  const groups = visibleGroups(server).filter(({ name }) => isAsked(name));
  const [first] = groups;
  if (first === undefined) throw refused("notFound");
  return { answer: /[*,!]/.test(asked) ? groups.map(groupRecord) : groupRecord(first) };
}

export const GROUP_COMMANDS: Commands = {
  "group/get": { right: MANAGER_RIGHT.manager, run: getGroup },
};
