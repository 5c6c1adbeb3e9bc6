import { ErrorCode, headers, type MsgHdrs, type NatsError, type PubAck } from "nats";
import type { Forward } from "../feed/forward.ts";
import type { Broker } from "./connect.ts";
import { ensureStreams, jetStreamManager, type StreamDefinition } from "./streams.ts";

/** A cluster that elects a leader acknowledges after some seconds. */
const ACK_TIMEOUT_MS = 5_000;
const MESSAGE_ID = "Nats-Msg-Id";
const NO_MESSAGE_FOUND = 10_037;

/** Publishes into the streams; resolves when the broker has stored the message. Creates streams that are missing. */
export function jetStreamPublisher(broker: Broker, streams: readonly StreamDefinition[]): Forward {
  const jetStream = broker.connection.jetstream();
  let repair: Promise<void> | undefined;

  async function publish(subject: string, payload: Uint8Array, sent: MsgHdrs): Promise<PubAck> {
    if (!broker.isConnected()) throw new Error("the broker is not connected");
    return await jetStream.publish(subject, payload, { headers: sent, timeout: ACK_TIMEOUT_MS });
  }

  async function publishIntoStream(subject: string, payload: Uint8Array, sent: MsgHdrs): Promise<PubAck> {
    try {
      return await publish(subject, payload, sent);
    } catch (error) {
      // No responders: no stream has the subject, or the stream has no leader at the moment.
      if ((error as Partial<NatsError>).code !== ErrorCode.NoResponders) throw error;
      repair ??= ensureStreams(broker, streams).finally(() => (repair = undefined));
      await repair;
      return await publish(subject, payload, sent);
    }
  }

  return async (subject, payload, fields) => {
    const sent = headers();
    for (const [name, value] of Object.entries(fields)) sent.set(name, value);
    const ack = await publishIntoStream(subject, payload, sent);
    if (!ack.duplicate || (await isStored(broker, ack))) return;
    // The broker keeps ids longer than messages: after a purge it would drop this message for good.
    sent.set(MESSAGE_ID, `${sent.get(MESSAGE_ID)}:${Date.now()}`);
    await publishIntoStream(subject, payload, sent);
  };
}

async function isStored(broker: Broker, { stream, seq }: PubAck): Promise<boolean> {
  const manager = await jetStreamManager(broker);
  try {
    await manager.streams.getMessage(stream, { seq });
    return true;
  } catch (error) {
    if ((error as Partial<NatsError>).api_error?.err_code === NO_MESSAGE_FOUND) return false;
    throw error;
  }
}
