"""Everything the package knows about array libraries; nothing here knows what a metric is."""
