/** The built-in levels; custom ones are told by their own name. */
export const level = {
  success: 'success',
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
} as const;
