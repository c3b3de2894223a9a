type Optional<T> = { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> }
type Required<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] }

/** The same without fields that are undefined: what crosses to the page has none in it. */
export function present<T extends object>(value: T): Required<T> & Optional<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Required<T> &
    Optional<T>
}
