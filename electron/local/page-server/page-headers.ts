/**
 * Parts the page from one that opened it. A page that the user or Berth opens has no such page, and the policy would
 * cost it the start of a second process, a tenth of the time until it shows.
 */
export function openerPolicy(site: string | undefined): Record<string, string> {
  return site === 'none' || site === 'same-origin' ? {} : { 'cross-origin-opener-policy': 'same-origin' }
}

/** The headers of all files of the page. `socket` is the only foreign address that it may connect to. */
export function pageHeaders(socket?: string): Record<string, string> {
  const policy = [
    "default-src 'self'",
    `connect-src 'self'${socket === undefined ? '' : ` ${socket}`}`,
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()',
  }
}
