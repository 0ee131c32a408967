# Clear debug history periodically
debugger.clear_debug_history()
