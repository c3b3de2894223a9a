/** Lists to which an AppImage adds its own folders, for its own program (app-builder-lib, AppRun). */
const lists = ['PATH', 'LD_LIBRARY_PATH', 'XDG_DATA_DIRS', 'GSETTINGS_SCHEMA_DIR']

/** Variables that locate the AppImage, and Electron's name for its desktop entry. */
const own = ['APPDIR', 'APPIMAGE', 'ARGV0', 'OWD', 'CHROME_DESKTOP']

/**
 * The environment for child processes, without Berth's own additions: otherwise the user's terminal and browser would
 * load the AppImage's libraries.
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
