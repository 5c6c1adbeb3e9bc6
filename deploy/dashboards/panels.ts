import * as common from "@grafana/grafana-foundation-sdk/common";
import * as grafana from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TimeseriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

/** Panels by the title of their row, in which they stand from left to right on 24 columns. */
type Rows = Readonly<Record<string, readonly Panel[]>>;
type Panel = StatBuilder | TimelineBuilder | TimeseriesBuilder;

type Common = {
  readonly description: string;
  /** `count`, `dollars`, or a name of Grafana. */
  readonly unit: "bytes" | "count" | "cpm" | "dollars" | "percentunit" | "reqps" | "s" | "short";
  readonly decimals?: number;
};

/** The first colour is that of values below all others. */
type Thresholds = readonly [lowest: string, ...steps: (readonly [from: number, color: string])[]];

/** The text and colour of 0, and of 1. */
type Values = readonly (readonly [text: string, color: string])[];

/** Expressions of Prometheus by the name of their lines, such as `{{job}}`. */
type Queries = Readonly<Record<string, string>>;

type Stat = Common & {
  readonly query: string;
  readonly thresholds: Thresholds;
  readonly values?: Values;
  readonly noValue?: string;
};

type Lines = Common & {
  readonly queries: Queries;
  readonly width?: number;
  readonly height?: number;
  /** Areas upon each other. */
  readonly isStacked?: boolean;
  readonly lineWidth?: number;
  readonly fill?: number;
  /** A value holds until the next one. */
  readonly isStepped?: boolean;
  readonly max?: number;
  /** The axis reaches to this value at least. */
  readonly softMax?: number;
  /** A dashed red line. */
  readonly limit?: number;
  /** A table on the right, sorted by the largest or the last value. */
  readonly table?: "last" | "max";
  /** A colour, or more, of the lines of a name or of a `/pattern/`. */
  readonly looks?: Readonly<Record<string, string | readonly grafana.DynamicConfigValue[]>>;
};

type Timeline = Common & {
  readonly queries: Queries;
  readonly thresholds: Thresholds;
  readonly values: Values;
};

const PROMETHEUS = { type: "prometheus", uid: "${datasource}" };
const CALLS = { last: ["lastNotNull", "max"], max: ["max"] };
const SORTED_BY = { last: "Last *", max: "Max" };

export const color = (fixedColor: string) => ({ id: "color", value: { mode: "fixed", fixedColor } });
export const named = (value: string) => ({ id: "displayName", value });
export const dashed = (on = 6) => ({ id: "custom.lineStyle", value: { fill: "dash", dash: [on, 6] } });
/** A line among areas. */
export const UNSTACKED = [
  { id: "custom.stacking", value: { mode: "none" } },
  { id: "custom.fillOpacity", value: 0 },
];
/** The sum of the areas below it. */
export const TOTAL = [color("text"), ...UNSTACKED, { id: "custom.lineWidth", value: 1 }, dashed()];

/** One number, of now. */
export function stat(title: string, { query, thresholds, values, noValue, ...rest }: Stat): StatBuilder {
  const panel = drawn(new StatBuilder(), title, rest)
    .span(4)
    .height(4)
    .withTarget(queryOf(query, "", 0).instant())
    .thresholds(thresholdsOf(thresholds))
    .colorScheme(byThresholds())
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]))
    .colorMode(common.BigValueColorMode.Background)
    .graphMode(common.BigValueGraphMode.None);
  if (values !== undefined) panel.mappings(mappingsOf(values));
  return noValue === undefined ? panel : panel.noValue(noValue);
}

/** Lines or areas over time. */
export function lines(title: string, spec: Lines): TimeseriesBuilder {
  const { queries, width = 8, height = 8, isStacked = false, isStepped = false, looks = {}, ...rest } = spec;
  const panel = drawn(new TimeseriesBuilder(), title, rest)
    .span(width)
    .height(height)
    .targets(queriesOf(queries))
    .min(0)
    .lineWidth(rest.lineWidth ?? (isStacked ? 0 : 1))
    .fillOpacity(rest.fill ?? (isStacked ? 60 : 0))
    .showPoints(common.VisibilityMode.Never)
    .tooltip(tooltipOf(common.TooltipDisplayMode.Multi))
    .legend(legendOf(rest.table));
  if (isStacked) panel.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal));
  if (isStepped) panel.lineInterpolation(common.LineInterpolation.StepAfter);
  if (rest.max !== undefined) panel.max(rest.max);
  if (rest.softMax !== undefined) panel.axisSoftMax(rest.softMax);
  if (rest.limit !== undefined) {
    const isDashed = new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed);
    panel.thresholds(thresholdsOf(["transparent", [rest.limit, "red"]])).thresholdsStyle(isDashed);
  }
  for (const [name, look] of Object.entries(looks)) {
    const properties = typeof look === "string" ? [color(look)] : [...look];
    if (name.startsWith("/")) panel.overrideByRegexp(name, properties);
    else panel.overrideByName(name, properties);
  }
  return panel;
}

/** A bar for each line, with the colour of its value. */
export function timeline(title: string, { queries, thresholds, values, ...rest }: Timeline): TimelineBuilder {
  return drawn(new TimelineBuilder(), title, rest)
    .span(12)
    .height(11)
    .targets(queriesOf(queries))
    .thresholds(thresholdsOf(thresholds))
    .colorScheme(byThresholds())
    .mappings(mappingsOf(values))
    .fillOpacity(80)
    .rowHeight(0.8)
    .showValue(common.VisibilityMode.Never)
    .tooltip(tooltipOf(common.TooltipDisplayMode.Single))
    .legend(legendOf(undefined));
}

/** A dashboard as Grafana imports it. */
export function dashboard(name: string, title: string, description: string, rows: Rows) {
  // oxlint-disable-next-line typescript/no-deprecated -- Grafana 11 does not read what its successor builds.
  const built = new grafana.DashboardBuilder(title)
    .uid(`pamm-${name}`)
    .description(description)
    .tags(["pamm", name])
    .version(1)
    .readonly()
    .refresh("30s")
    .timezone("utc")
    .time({ from: "now-6h", to: "now" })
    .withVariable(new grafana.DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"))
    .annotation({ build: () => ALERTS })
    .link({ build: () => OTHERS });
  let id = 0;
  for (const [row, panels] of Object.entries(rows)) {
    built.withRow(new grafana.RowBuilder(row).id(++id));
    for (const panel of panels) built.withPanel(panel.id(++id).datasource(PROMETHEUS));
  }
  // That of Grafana 11.0; a newer Grafana migrates it.
  return { ...built.build(), schemaVersion: 39 };
}

/** Not made by the builders of the package, because they move both into a menu of newer versions of Grafana. */
const ALERTS: grafana.AnnotationQuery = {
  name: "Alerts",
  datasource: PROMETHEUS,
  enable: true,
  iconColor: "red",
  expr: 'max by (alertname) (ALERTS{alertname=~"Pamm.*",alertstate="firing"})',
  titleFormat: "{{alertname}}",
};
const OTHERS: grafana.DashboardLink = {
  title: "PAMM",
  type: grafana.DashboardLinkType.Dashboards,
  icon: "",
  tooltip: "",
  tags: ["pamm"],
  asDropdown: true,
  targetBlank: false,
  includeVars: false,
  keepTime: false,
};

function drawn<Builder extends Panel>(panel: Builder, title: string, { description, unit, decimals }: Common): Builder {
  panel.title(title).description(description);
  if (unit === "count") panel.unit("short").decimals(0);
  else if (unit === "dollars") panel.unit("currencyUSD").decimals(2);
  else panel.unit(unit);
  if (decimals !== undefined) panel.decimals(decimals);
  return panel;
}

function queriesOf(queries: Queries): DataqueryBuilder[] {
  return Object.entries(queries).map(([name, expr], index) => queryOf(expr, name, index));
}

function queryOf(expr: string, name: string, index: number): DataqueryBuilder {
  const query = new DataqueryBuilder().datasource(PROMETHEUS).expr(expr).legendFormat(name);
  return query.refId(String.fromCodePoint(65 + index));
}

function thresholdsOf([lowest, ...steps]: Thresholds): grafana.ThresholdsConfigBuilder {
  const above = steps.map(([value, next]) => ({ value, color: next }));
  return new grafana.ThresholdsConfigBuilder().steps([{ value: null, color: lowest }, ...above]);
}

function byThresholds(): grafana.FieldColorBuilder {
  return new grafana.FieldColorBuilder().mode(grafana.FieldColorModeId.Thresholds);
}

function mappingsOf(values: Values): grafana.ValueMapping[] {
  const options = values.map(([text, shown], index) => [String(index), { text, color: shown, index }] as const);
  return [{ type: grafana.MappingType.ValueToText, options: Object.fromEntries(options) }];
}

function tooltipOf(mode: common.TooltipDisplayMode): common.VizTooltipOptionsBuilder {
  return new common.VizTooltipOptionsBuilder().mode(mode).sort(common.SortOrder.Descending);
}

function legendOf(table: Lines["table"]): common.VizLegendOptionsBuilder {
  const legend = new common.VizLegendOptionsBuilder().showLegend(true);
  if (table === undefined) return legend;
  return legend
    .displayMode(common.LegendDisplayMode.Table)
    .placement(common.LegendPlacement.Right)
    .calcs(CALLS[table])
    .sortBy(SORTED_BY[table])
    .sortDesc(true);
}

/** The first thing to know about money and about the platform. */
export function permits() {
  return stat("Permits", {
    description:
      "Whether commands are sent to the trading platform at all. Not while its history is read after a restart of Postgres, nor after lost commits until operators have decided.",
    query: "min(pamm_permits_open)",
    unit: "short",
    thresholds: ["red", [1, "green"]],
    values: [
      ["stopped", "red"],
      ["open", "green"],
    ],
  });
}
