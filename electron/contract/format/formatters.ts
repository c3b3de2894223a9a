/** Formatters take milliseconds to create, which is long for a command, so each is created on its first use. */

export function numberFormatter(options: Intl.NumberFormatOptions): (value: number) => string {
  let formatter: Intl.NumberFormat | undefined
  return value => {
    formatter ??= new Intl.NumberFormat('en-US', options)
    return formatter.format(value)
  }
}

export function dateFormatter(options: Intl.DateTimeFormatOptions): (date: Date | number) => string {
  let formatter: Intl.DateTimeFormat | undefined
  return date => {
    formatter ??= new Intl.DateTimeFormat('en-GB', options)
    return formatter.format(date)
  }
}
