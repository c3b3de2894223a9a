/** Lists of folders that an AppImage puts its own into, for its own program (app-builder-lib, AppRun). */
const lists = ['PATH', 'LD_LIBRARY_PATH', 'XDG_DATA_DIRS', 'GSETTINGS_SCHEMA_DIR']

/** What tells where an AppImage runs from, and Electron's own name for its desktop entry. */
const own = ['APPDIR', 'APPIMAGE', 'ARGV0', 'OWD', 'CHROME_DESKTOP']

/**
 * The environment for other programs: without what was meant for Berth alone. An AppImage's libraries would be loaded
 * by the user's terminal and browser.
 */
export function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { APPDIR: appDir } = env
  const clean = { ...env }
  for (const name of own) delete clean[name]
  if (!appDir) return clean
  for (const name of lists) {
    const folders = clean[name]
      ?.split(':')
      .filter(folder => folder !== appDir && !folder.startsWith(`${appDir}/`))
    if (folders === undefined) continue
    if (folders.some(Boolean)) clean[name] = folders.filter(Boolean).join(':')
    else delete clean[name]
  }
  return clean
}
