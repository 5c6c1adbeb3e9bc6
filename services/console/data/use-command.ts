import { useRef, useState } from "preact/hooks";
import type { Client, CommandId, CommandResult } from "../../client/index.ts";
import { newIdempotencyKey } from "../session/new-key.ts";
import { clientOfSession } from "../session/session.ts";

type Send<Id extends CommandId> = (client: Client, idempotencyKey: string) => Promise<CommandResult<Id>>;

export type Command<Id extends CommandId> = {
  readonly result: CommandResult<Id> | undefined;
  readonly isSending: boolean;
  /** `about` identifies what is sent: as long as its outcome is unknown, the same is sent under the same key. */
  readonly send: (about: string, command: Send<Id>) => void;
};

/** Sends a command once, whatever happens on the way. */
export function useCommand<Id extends CommandId>(done: () => void): Command<Id> {
  const [result, setResult] = useState<CommandResult<Id> | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const open = useRef<{ readonly about: string; readonly key: string } | undefined>(undefined);

  const send = (about: string, command: Send<Id>): void => {
    if (isSending) return;
    const key = open.current?.about === about ? open.current.key : newIdempotencyKey();
    open.current = { about, key };
    setSending(true);
    command(clientOfSession(), key).then(
      (outcome) => {
        if (outcome.outcome !== "unknown") open.current = undefined;
        setResult(outcome);
        setSending(false);
        done();
      },
      () => setSending(false),
    );
  };
  return { result, isSending, send };
}
