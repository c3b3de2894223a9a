/** A page that redirects to an address: a browser gets its file, since a command line would show the address. */
export function pageLeadingTo(address: string, title: string): string {
  const target = escaped(address)
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${target}">
<title>${escaped(title)}</title>
<p><a href="${target}">Open ${escaped(title)}</a></p>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
