import { MasterState, type MasterStatus } from "#proto/pamm/account/v1/account.ts";
import { timestamp } from "../wire/timestamp.ts";
import { model, setOf } from "./field.ts";
import { idReply, masterLoginReply, timeReply } from "./reply-fields.ts";

export const masterStateSet = setOf("MasterState", "Where a Master is in its life.", {
  open: "Investors can be assigned",
  not_accepting: "assignments are refused; Investors who are assigned stay, top up and leave",
});

type State = (typeof masterStateSet.values)[number];

export const MasterStatusReply = model("MasterStatus", "Where a Master is in its life.", {
  id: idReply("Internal id of the Master."),
  mt5_login: masterLoginReply("Trading login."),
  state: masterStateSet.of("State of the Master.", "open"),
  since: timeReply("Since when it is in this state."),
});

const STATES: Readonly<Record<MasterState, State | undefined>> = {
  [MasterState.UNSPECIFIED]: undefined,
  [MasterState.OPEN]: "open",
  [MasterState.NOT_ACCEPTING]: "not_accepting",
  [MasterState.UNRECOGNIZED]: undefined,
};

export function masterStatus({ id, login, state, since }: MasterStatus) {
  const shown = STATES[state];
  if (shown === undefined) throw new Error(`unknown state ${state} of Master ${login}`);
  return { id, mt5_login: login, state: shown, since: timestamp(since) };
}
