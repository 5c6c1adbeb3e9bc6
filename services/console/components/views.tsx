export type ViewLink = { readonly name: string; readonly title: string; readonly href: string };

/** The parts of a page that has several, one of which is shown. */
export function Views({
  label,
  views,
  current,
}: {
  readonly label: string;
  readonly views: readonly ViewLink[];
  readonly current: string | undefined;
}) {
  return (
    <nav class="views" aria-label={label}>
      {views.map(({ name, title, href }) => (
        <a key={name} href={href} aria-current={name === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
