import { groupMask } from "../../domain/group-mask.ts";
import { refused } from "../../domain/retcode.ts";
import { MANAGER_RIGHT } from "../../settings.ts";
import type { TradeServer } from "../../trade-server.ts";
import type { Commands } from "../command.ts";
import { numberOf, type Params, requiredNumber, requiredText } from "../params.ts";
import { groupRecord } from "../records/group-record.ts";
import { type Answer, valuesOf } from "../reply.ts";
import { visibleGroups } from "../visible.ts";

function countGroups(server: TradeServer): Answer {
  return valuesOf({ Total: String(visibleGroups(server).length) });
}

/** One group as an object; with a count above 1 an array. */
function nextGroup(server: TradeServer, params: Params): Answer {
  const index = requiredNumber(params, "index");
  const count = numberOf(params, "count") ?? 1;
  const found = visibleGroups(server)
    .slice(index, index + Math.max(count, 1))
    .map(groupRecord);
  const [first] = found;
  if (first === undefined) throw refused("notFound");
  return { answer: count > 1 ? found : first };
}

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
  "group/total": { right: MANAGER_RIGHT.manager, run: countGroups },
  "group/next": { right: MANAGER_RIGHT.manager, run: nextGroup },
  "group/get": { right: MANAGER_RIGHT.manager, run: getGroup },
};
