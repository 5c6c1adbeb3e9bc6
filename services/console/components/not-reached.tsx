/** Names the services whose items are missing. */
export function NotReached({
  services = [],
  what,
}: {
  readonly services: readonly string[] | undefined;
  readonly what: string;
}) {
  const names = [...new Set(services)];
  if (names.length === 0) return null;
  return (
    <p class="warning" role="status">
      Not reached: {names.join(", ")}. Their {what} are missing here.
    </p>
  );
}
