import { type Fragment, fragment } from "#kernel/postgres/query.ts";

type Filter = {
  readonly outcome: string | undefined;
  readonly masterLogin: string | undefined;
  readonly queueState?: string | undefined;
  readonly fromId: string | undefined;
  readonly beforeId: string;
};

/** The ids of unassigns, newest first. */
export function unassignsInOrder<F extends Filter>(filter: F, conditionsOf: (filter: F) => Fragment): Fragment {
  const { masterLogin, outcome } = filter;
  // Those that were not executed are few: they are read by an index of their own, also those of other Masters.
  const isRare = outcome !== undefined && outcome !== "EXECUTED";
  const byMaster = masterLogin !== undefined && !isRare;
  return fragment`
    select unassignment.command_id
    from unassignment
    join subscription on subscription.id = unassignment.subscription_id
    where ${conditionsOf(byMaster ? { ...filter, masterLogin: undefined } : filter)} ${inQueue(filter)}
    ${byMaster ? ofMaster(masterLogin, filter) : fragment`order by unassignment.command_id collate "C" desc`}`;
}

/** After each id: ids have letters, digits and signs before it. */
const LAST = "~";

/** A range of the index. For a Master that is equal the planner expects few, and would read and sort all of them. */
function ofMaster(masterLogin: string, { fromId = "", beforeId }: Filter): Fragment {
  return fragment`
    and (unassignment.master_login, unassignment.command_id collate "C") >= (${masterLogin}, ${fromId})
    and (unassignment.master_login, unassignment.command_id collate "C") < (${masterLogin}, ${beforeId || LAST})
    order by unassignment.master_login desc, unassignment.command_id collate "C" desc`;
}

function inQueue({ queueState }: Pick<Filter, "queueState">): Fragment {
  if (queueState === undefined) return fragment``;
  return fragment`and unassignment.command_id = any(array(
      select command_id from queued_unassign where state <> 'ENDED' and state = ${queueState} and expires_at is not null))`;
}
