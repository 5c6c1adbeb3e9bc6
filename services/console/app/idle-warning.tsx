import { useEffect, useRef, useState } from "preact/hooks";
import { watchIdle } from "../session/idle.ts";
import { signOut } from "../session/session.ts";

/** Announces the sign-out a minute before it. */
export function IdleWarning() {
  const [leftMs, setLeft] = useState<number | undefined>(undefined);
  const idle = useRef<ReturnType<typeof watchIdle> | undefined>(undefined);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    idle.current = watchIdle({
      onChange: setLeft,
      onEnd: () => signOut("Signed out after 15 minutes without input."),
    });
    return () => idle.current?.stop();
  }, []);
  const isAnnounced = leftMs !== undefined;
  useEffect(() => {
    if (isAnnounced) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isAnnounced]);

  return (
    <dialog ref={dialog} aria-labelledby="idle-title" onCancel={() => idle.current?.stay()}>
      <h2 id="idle-title">Still there?</h2>
      <p>There was no input for a while. The console signs out in {Math.ceil((leftMs ?? 0) / 1_000)} seconds.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => idle.current?.stay()}>
          Stay signed in
        </button>
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </div>
    </dialog>
  );
}
