import { ErrorCode, headers, type MsgHdrs, type NatsError, type PubAck } from "nats";
import type { Forward } from "../feed/relay.ts";
import type { Broker } from "./connect.ts";
import { jetStreamManager, SET_UP } from "./streams.ts";

/** A cluster that elects a leader acknowledges after some seconds. */
const ACK_TIMEOUT_MS = 5_000;
const MESSAGE_ID = "Nats-Msg-Id";
const NO_MESSAGE_FOUND = 10_037;

/** Publishes into the streams; resolves when the broker has stored the message. */
export function jetStreamPublisher(broker: Broker): Forward {
  const jetStream = broker.connection.jetstream();

  async function publish(subject: string, payload: Uint8Array, sent: MsgHdrs): Promise<PubAck> {
    if (!broker.isConnected()) throw new Error("the broker is not connected");
    try {
      return await jetStream.publish(subject, payload, { headers: sent, timeout: ACK_TIMEOUT_MS });
    } catch (error) {
      if ((error as Partial<NatsError>).code !== ErrorCode.NoResponders) throw error;
      // A cluster that elects a leader does not answer either, for some seconds.
      throw new Error(`no stream stores ${subject}; if this lasts, ${SET_UP}`, { cause: error });
    }
  }

  return async (subject, payload, fields) => {
    const sent = headers();
    for (const [name, value] of Object.entries(fields)) sent.set(name, value);
    const ack = await publish(subject, payload, sent);
    if (!ack.duplicate || (await isStored(broker, ack))) return;
    // The broker keeps ids longer than messages: after a purge it would drop this message for good.
    sent.set(MESSAGE_ID, `${sent.get(MESSAGE_ID)}:${Date.now()}`);
    await publish(subject, payload, sent);
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
