/** The watchdog's script, joined from its parts in the order in which the shell reads them. */
export async function watchdogScript(): Promise<string> {
  const parts = await Promise.all([
    import('./begin.sh?raw'),
    import('./config.sh?raw'),
    import('./service.sh?raw'),
    import('./time.sh?raw'),
    import('./process.sh?raw'),
    import('./decide.sh?raw'),
    import('./act.sh?raw'),
    import('./main.sh?raw'),
  ])
  return parts.map(part => part.default).join('\n')
}
