/** One condition on a field, with the operators of section 4.5. */
export interface Condition<V> {
  eq?: V
  neq?: V
  lt?: V
  lte?: V
  gt?: V
  gte?: V
  in?: readonly V[]
  notin?: readonly V[]
}

/** Conditions by field, all of which must hold. */
export type Filters<Fields> = { [F in keyof Fields]?: Condition<NonNullable<Fields[F]>> }
