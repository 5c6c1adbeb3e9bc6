import { useRef, useState } from "preact/hooks";
import type { Client, CommandId, CommandOptions, CommandResult } from "../../client/index.ts";
import { clientOfSession } from "../session/session.ts";

type Send<Id extends CommandId> = (client: Client, options: CommandOptions) => Promise<CommandResult<Id>>;

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
    const options = open.current?.about === about ? { idempotencyKey: open.current.key } : {};
    setSending(true);
    command(clientOfSession(), options).then(
      (outcome) => {
        open.current = outcome.outcome === "unknown" ? { about, key: outcome.idempotencyKey } : undefined;
        setResult(outcome);
        setSending(false);
        done();
      },
      () => setSending(false),
    );
  };
  return { result, isSending, send };
}
